"""SuperNav: a multimodal model, ours or somebody else's agent program, drives the robot through a few tools."""
