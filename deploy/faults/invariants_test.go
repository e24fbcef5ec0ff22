package faults_test

// invariant is a requirement that no fault may break.
type invariant int

const (
	// effect: a request has one effect and one answer for each Idempotency-Key, and the services hold what was answered.
	effect invariant = iota
	// lost, duplicate, order: each committed change is in the feed exactly once, in causal order.
	lost
	duplicate
	order
	// delivery: each event reaches every receiver it is for.
	delivery
	// stock: remaining and held units add up, and at no time are more units held than exist.
	stock
	// leak: no key sees another tenant's or brand's records; personal data is nowhere outside the sealed columns.
	leak
	// answers: each answer is right, or a problem that says when to try again: 503, 409 or 429.
	answers
	// invariants is their number.
	invariants
)

func (i invariant) String() string {
	return [invariants]string{"effect", "lost", "duplicate", "order", "delivery", "stock", "leak", "answers"}[i]
}
