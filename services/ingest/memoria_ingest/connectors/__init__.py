"""Programs that push what they know: connectors, their tokens, and their items."""
