"""What several files of tests use: definitions to compare with, data to try, harnesses."""
