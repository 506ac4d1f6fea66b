"""The people of a study: where each of them is, what they are asked, what they answered."""
