# What was learned on a branch may have landed with it.
@settle@
