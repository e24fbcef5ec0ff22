package sender

// tenantShare is how many workers a tenant may occupy for each that is free. If all receivers of one tenant stop answering at the
// same moment, an eighth of the workers stays free for the other tenants; if those of two do, a fifteenth.
const tenantShare = 7

// workerUse counts the workers in use. Endpoints that are not healthy get at most half of the workers, together.
type workerUse struct{ all, unhealthy usage }

// usage is how many workers are used of those that may be, and by each tenant.
type usage struct {
	used, limit int
	ofTenant    map[string]int
}

// workerUse counts the workers that are in use, and those that the claim in flight may use. The guard is held.
func (s *schedule) workerUse() *workerUse {
	used := newWorkerUse(s.workers)
	for e, n := range s.inFlight {
		used.add(s.healthOf(e), e.TenantID, n)
	}
	for e, n := range s.claiming {
		used.add(s.healthOf(e), e.TenantID, n)
	}
	return used
}

func newWorkerUse(workers int) *workerUse {
	return &workerUse{
		all:       usage{limit: workers, ofTenant: map[string]int{}},
		unhealthy: usage{limit: max(1, workers/2), ofTenant: map[string]int{}}, //nolint:mnd // Half.
	}
}

// add counts workers as used.
func (s *workerUse) add(class health, tenant string, n int) {
	s.all.add(tenant, n)
	if class != healthy {
		s.unhealthy.add(tenant, n)
	}
}

// available returns how many more workers endpoints of the health and tenant may have.
func (s *workerUse) available(class health, tenant string) int {
	if class == healthy {
		return s.all.available(tenant)
	}
	return min(s.all.available(tenant), s.unhealthy.available(tenant))
}

func (u *usage) add(tenant string, n int) {
	u.used += n
	u.ofTenant[tenant] += n
}

// available leaves some of the free workers to other tenants. A tenant that has none may have the last one.
func (u *usage) available(tenant string) int {
	free, own := u.limit-u.used, u.ofTenant[tenant]
	return min(free, max((tenantShare*free-own)/(tenantShare+1), 1-own))
}

// workersUsed returns how many workers endpoints of each health and worse ones have: dead ones share those of slow ones.
func (s *schedule) workersUsed() map[health]int {
	s.guard.Lock()
	defer s.guard.Unlock()
	used := s.workerUse()
	return map[health]int{healthy: used.all.used, slow: used.unhealthy.used}
}

// workersLimit returns how many workers they may have.
func (s *schedule) workersLimit() map[health]int {
	used := newWorkerUse(s.workers)
	return map[health]int{healthy: used.all.limit, slow: used.unhealthy.limit}
}
