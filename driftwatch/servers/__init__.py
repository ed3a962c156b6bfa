"""What is watched: servers, their credentials and the profiles through which they are seen."""
