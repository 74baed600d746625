"""What must hold, and the engines that run the model itself: search, state machine, shrinker, variants."""
