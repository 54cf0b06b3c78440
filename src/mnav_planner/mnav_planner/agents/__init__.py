"""The agents: generators that decide, each with its own chooser without a model."""
