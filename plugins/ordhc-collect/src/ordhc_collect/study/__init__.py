"""Read and check study files."""
