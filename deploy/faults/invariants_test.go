package faults_test

// invariant is a promise that no fault may break.
type invariant int

const (
	// effect: a request has one effect and one answer for each Idempotency-Key, and what was answered is there.
	effect invariant = iota
	// lost, twice, order: each committed change stands in the feed once, and in causal order.
	lost
	twice
	order
	// delivery: each event reaches every receiver it is for.
	delivery
	// stock: what is left and what orders hold add up, and no unit is sold twice at any time.
	stock
	// leak: nobody sees what is another tenant's, another brand's, or personal.
	leak
	// answers: each answer is right, or says that there is none now and when to ask again: 503, 409 or 429.
	answers
	invariants
)

func (i invariant) String() string {
	return [invariants]string{"effect", "lost", "twice", "order", "delivery", "stock", "leak", "answers"}[i]
}
