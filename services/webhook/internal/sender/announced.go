package sender

import "sync"

// announced gathers the keys whose deliveries have been stored since they were last taken.
type announced struct {
	guard sync.Mutex
	keys  []int32
}

// add keeps the keys as far as there is room: a claim takes no more deliveries than that either.
func (a *announced) add(keys []int32, room int) {
	a.guard.Lock()
	defer a.guard.Unlock()
	a.keys = append(a.keys, keys[:min(len(keys), max(room-len(a.keys), 0))]...)
}

func (a *announced) take() []int32 {
	a.guard.Lock()
	defer a.guard.Unlock()
	keys := a.keys
	a.keys = nil
	return keys
}
