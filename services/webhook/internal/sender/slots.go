package sender

import "slices"

// tenantShare is how many workers of a class a tenant may occupy for each that is free. If all receivers of one tenant stop
// answering at the same moment, an eighth of the workers stays free for the other tenants; if those of two do, a fifteenth.
const tenantShare = 7

// slots count the workers that the endpoints of each class have, of all tenants and of each.
type slots struct {
	workers  int
	used     [classes]int
	ofTenant map[string]*[classes]int
}

func newSlots(workers int) *slots {
	return &slots{workers: workers, ofTenant: map[string]*[classes]int{}}
}

// slots returns the workers that are in use, and those that the claim in flight may use.
func (s *schedule) slots() *slots {
	used := newSlots(s.workers)
	for e, n := range s.inFlight {
		used.add(s.healthOf(e), e.TenantID, n)
	}
	for e, n := range s.claiming {
		used.add(s.healthOf(e), e.TenantID, n)
	}
	return used
}

// add counts workers as used.
func (s *slots) add(of health, tenant string, n int) {
	if s.ofTenant[tenant] == nil {
		s.ofTenant[tenant] = &[classes]int{}
	}
	s.used[of] += n
	s.ofTenant[tenant][of] += n
}

// available returns how many more workers endpoints of the class and tenant may have. Each class and those below it leave a
// quarter of the workers to the better classes, and each tenant leaves some of that to other tenants. If there are few workers,
// each class may still have one, and a tenant that has none may have the last one.
func (s *slots) available(of health, tenant string) int {
	own := s.ofTenant[tenant]
	if own == nil {
		own = &[classes]int{}
	}
	available, used, ownUsed := s.workers, 0, 0
	for class := classes - 1; class >= healthy; class-- {
		used += s.used[class]
		ownUsed += own[class]
		if class > of {
			continue
		}
		free := s.limit(class) - used
		available = min(available, free, max((tenantShare*free-ownUsed)/(tenantShare+1), 1-ownUsed))
	}
	return available
}

// limit returns how many workers the class and the worse ones may have.
func (s *slots) limit(class health) int { return max(1, s.workers*int(classes-class)/int(classes)) }

// workersUsed returns how many workers each class and the worse ones have.
func (s *schedule) workersUsed() (used [classes]int) {
	s.guard.Lock()
	defer s.guard.Unlock()
	total := 0
	for class, n := range slices.Backward(s.slots().used[:]) {
		total += n
		used[class] = total
	}
	return used
}

// workersLimit returns how many workers each class and the worse ones may have.
func (s *schedule) workersLimit() (limits [classes]int) {
	for class := range limits {
		limits[class] = newSlots(s.workers).limit(health(class))
	}
	return limits
}
