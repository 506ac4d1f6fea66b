"""Ask for comparisons: learners, oracles, the loop that connects them, and sessions, which are files."""
