"""What tests of running nodes share."""
