package versions

import "time"

// SetBudget sets how long a change waits for its publication.
func (p *Publisher) SetBudget(budget time.Duration) { p.budget = budget }
