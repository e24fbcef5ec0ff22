package relay

import "slices"

// groupCount is the number of groups into which the tenants are divided, by the last byte of their ids. All instances need the same:
// see the package's documentation before you change it.
const groupCount = 8

// groupOf is the group of a row.
const groupOf = `get_byte(uuid_send(tenant_id), 15) % 8`

// share is what this process leads.
type share struct {
	groups []int32
	// gains counts how often groups were added. Their rows may be before the windows.
	gains int
}

// everything is the share of a process that is alone.
func everything() *share {
	s := &share{}
	for g := range int32(groupCount) {
		s.groups = append(s.groups, g)
	}
	return s
}

// hold sets which groups are published from the next batch on.
func (r *Relay) hold(groups []int32) {
	before := r.share.Load()
	next := &share{groups: groups, gains: before.gains}
	if slices.ContainsFunc(groups, func(g int32) bool { return !slices.Contains(before.groups, g) }) {
		next.gains++
	}
	r.share.Store(next)
	r.metrics.hold(len(groups))
	r.Wake()
}
