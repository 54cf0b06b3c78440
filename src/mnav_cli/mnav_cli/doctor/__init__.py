"""What `mnav doctor` looks at: the machine, a running graph, a robot file."""
