"""What ordhc brings along, registered through the same hooks as any plugin."""
