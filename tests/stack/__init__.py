# A package, because a fixture of its scope ends with its tests: the stack must not idle beside others.
