"""Local servers that speak the endpoint's protocol and misbehave on request."""
