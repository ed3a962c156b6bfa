"""What is due and who does it: tick, claim, poll jobs, the sweep that resumes what a crash left."""
