package fanout

// WaitForLookup is how many batches wait for a look-up of subscriptions.
func (f *FanOut) WaitForLookup() int { return f.subscriptions.runs.Waiting() }
