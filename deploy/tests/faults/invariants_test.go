package faults_test

// invariant is a requirement that no fault may break.
type invariant int

const (
	// effect: a request has one effect and one response for each Idempotency-Key, and the record of the response is stored.
	effect invariant = iota
	// lost, duplicate, order: each committed change is in the feed exactly once, in causal order.
	lost
	duplicate
	order
	// delivery: each event reaches every receiver that should get it.
	delivery
	// cursor: a follower misses nothing. Its cursor is refused only if the feed went back to an earlier state.
	cursor
	// loss: the platform's own commands report exactly the changes that were lost.
	loss
	// flat: no read gets slower with the rows that have come and gone.
	flat
	// stock: remaining and held units add up, and at no time are more units held than exist.
	stock
	// leak: no key sees another tenant's or brand's records; personal data is nowhere outside the sealed columns.
	leak
	// answers: each response is valid, or a problem with a Retry-After: 503, 409 or 429.
	answers
	// invariants is the number of invariants.
	invariants
)

func (i invariant) String() string {
	return [invariants]string{
		"effect", "lost", "duplicate", "order", "delivery", "cursor", "loss", "flat", "stock", "leak", "answers",
	}[i]
}
