//go:build faults

package faults_test

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// A mark names the event of a change, from the change's answer as well as from the event.
type mark string

func orderMark(id string, version int64) mark {
	return mark(fmt.Sprintf("order %s version %d", id, version))
}
func messageMark(id string) mark      { return mark("message " + id) }
func linkMark(id, change string) mark { return mark("link " + id + " " + change) }

// deed is what a writer asked for and was answered.
type deed struct {
	tenant string
	// key made the change; 0 when it was a person.
	key             int32
	asked, answered time.Time
	marks           []mark
	// data is what the events of some marks must hold, byte for byte: what was answered.
	data map[mark]string
}

func (d *deed) add(m mark, data string) {
	d.marks = append(d.marks, m)
	if d.data == nil {
		d.data = map[mark]string{}
	}
	d.data[m] = data
}

// hold is a unit of stock that an order has for certain: from its answer until somebody asks to cancel it.
type hold struct{ from, until time.Time }

// ledger is what the writers remember.
type ledger struct {
	lock  sync.Mutex
	deeds []deed
	holds map[string]*hold
	// known are records by tenant, for those who may not see them.
	known map[string][]snapshot
}

func newLedger() *ledger { return &ledger{holds: map[string]*hold{}, known: map[string][]snapshot{}} }

func (l *ledger) write(d deed) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.deeds = append(l.deeds, d)
}

func (l *ledger) of(tenant string) (deeds []deed) {
	l.lock.Lock()
	defer l.lock.Unlock()
	for _, d := range l.deeds {
		if d.tenant == tenant {
			deeds = append(deeds, d)
		}
	}
	return deeds
}

func (l *ledger) took(order string, at time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.holds[order] = &hold{from: at}
}

func (l *ledger) gives(order string, at time.Time) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.holds[order].until = at
}

func (l *ledger) knows(tenant string, r snapshot) {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.known[tenant] = append(l.known[tenant], r)
}

// anyOf gives one of the tenant's records, the n-th or so.
func (l *ledger) anyOf(tenant string, n int) (snapshot, bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	if len(l.known[tenant]) == 0 {
		return snapshot{}, false
	}
	return l.known[tenant][n%len(l.known[tenant])], true
}

// snapshot is what the check needs of an order or a link.
type snapshot struct {
	ID          string  `json:"id"`
	BrandID     string  `json:"brandId"`
	CampaignID  *string `json:"campaignId"`
	Status      string  `json:"status"`
	Version     int64   `json:"version"`
	CreatedAt   string  `json:"createdAt"`
	UpdatedAt   string  `json:"updatedAt"`
	ClaimURL    string  `json:"claimUrl"`
	OrderID     *string `json:"orderId"`
	ApprovedAt  *string `json:"approvedAt"`
	ClaimedAt   *string `json:"claimedAt"`
	CancelledAt *string `json:"cancelledAt"`
	raw         string
}

func (s snapshot) isLink() bool { return s.ClaimURL != "" }

func readRecord(raw []byte) (snapshot, error) {
	r := snapshot{raw: string(raw)}
	err := json.Unmarshal(raw, &r)
	return r, err
}

// readList adds the records of a page and gives the cursor of the next.
func readList(body string, into map[string]snapshot) (next string, err error) {
	var page struct {
		Items      []json.RawMessage `json:"items"`
		NextCursor *string           `json:"nextCursor"`
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		return "", err
	}
	for _, item := range page.Items {
		r, err := readRecord(item)
		if err != nil {
			return "", err
		}
		into[r.ID] = r
	}
	if page.NextCursor != nil {
		next = *page.NextCursor
	}
	return next, nil
}
