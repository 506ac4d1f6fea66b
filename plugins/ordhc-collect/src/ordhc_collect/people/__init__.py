"""The people of a study: their current pages, questions and answers, in memory and in the session file."""
