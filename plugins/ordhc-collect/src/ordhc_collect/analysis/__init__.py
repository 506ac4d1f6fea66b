"""What the answers of a study say."""
