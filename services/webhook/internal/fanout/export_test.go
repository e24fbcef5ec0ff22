package fanout

// WaitForLookup is how many batches wait for a lookup.
func (f *FanOut) WaitForLookup() int { return f.subscriptions.lookups.Waiting() }
