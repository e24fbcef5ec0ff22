package versions

import "time"

// SetBudget sets how long an attempt to publish may take, and SetLease how long a change waits whose version is not published.
func (p *Publisher) SetBudget(budget time.Duration) { p.budget = budget }
func (p *Publisher) SetLease(lease time.Duration)   { p.lease = lease }
