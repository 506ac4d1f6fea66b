"""The web pages: what participants see, and the dashboard."""
