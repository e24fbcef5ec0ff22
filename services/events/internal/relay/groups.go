package relay

import "slices"

// groupCount is the number of groups into which the tenants are divided, by the last byte of their ids. All instances need the
// same: see the package's documentation before you change it.
const groupCount = 8

// groupOf is the group of a row.
const groupOf = `get_byte(uuid_send(tenant_id), 15) % 8`

// assignment is which groups this process leads.
type assignment struct {
	groups []int32
	// generation counts how often groups were added. Their rows may be before the windows.
	generation int
}

// allGroups is the assignment of a process that is alone.
func allGroups() *assignment {
	a := &assignment{}
	for g := range int32(groupCount) {
		a.groups = append(a.groups, g)
	}
	return a
}

// assign sets which groups are published from the next batch on.
func (r *Relay) assign(groups []int32) {
	before := r.assignment.Load()
	next := &assignment{groups: groups, generation: before.generation}
	if slices.ContainsFunc(groups, func(g int32) bool { return !slices.Contains(before.groups, g) }) {
		next.generation++
	}
	r.assignment.Store(next)
	r.metrics.assign(len(groups))
	r.Wake()
}
