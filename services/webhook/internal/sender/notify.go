package sender

import "sync"

// Wake says that deliveries may be due. It never blocks, and many calls count as one.
func (s *Sender) Wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

// Notify says that deliveries to the keys have just been stored. It wakes the sender, which can then look
// up their endpoints while it claims them.
func (s *Sender) Notify(keys []int32) {
	s.stored.add(keys, s.cfg.Workers)
	s.Wake()
}

// storedKeys collects the keys whose deliveries have been stored since the last claim.
type storedKeys struct {
	guard sync.Mutex
	keys  []int32
}

// add keeps limit keys at most: a claim takes no more deliveries.
func (k *storedKeys) add(keys []int32, limit int) {
	k.guard.Lock()
	defer k.guard.Unlock()
	k.keys = append(k.keys, keys[:min(len(keys), max(limit-len(k.keys), 0))]...)
}

func (k *storedKeys) take() []int32 {
	k.guard.Lock()
	defer k.guard.Unlock()
	keys := k.keys
	k.keys = nil
	return keys
}
