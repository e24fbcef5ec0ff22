package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// Kind of a difference.
type Kind string

// The kinds.
const (
	StockHeld       Kind = "stock_held_without_order"
	StockNotHeld    Kind = "stock_not_held"
	LinkNotClaimed  Kind = "link_not_claimed"
	LinkNoOrder     Kind = "link_without_order"
	LinkOtherOrder  Kind = "link_with_other_order"
	LinkMissing     Kind = "order_of_missing_link"
	EventMissing    Kind = "last_event_missing"
	EventNoOrder    Kind = "events_without_order"
	EventAfterOrder Kind = "order_older_than_its_event"
)

// kinds lists every kind in the order of the report, with its meaning.
var kinds = []struct {
	kind    Kind
	meaning string
}{
	{StockHeld, "stock is held for an order that does not exist or was cancelled"},
	{StockNotHeld, "an order holds no unit, which may be sold again"},
	{LinkNotClaimed, "a link has an order but is not claimed"},
	{LinkNoOrder, "a link is claimed, but its order does not exist"},
	{LinkOtherOrder, "a link is claimed with another order than its own"},
	{LinkMissing, "an order's link does not exist"},
	{EventMissing, "the feed does not have an order's last change"},
	{EventNoOrder, "the feed has events of an order that does not exist"},
	{EventAfterOrder, "the feed has a later state of an order than the order itself"},
}

// Difference is one difference. It has ids only.
type Difference struct {
	Kind     Kind   `json:"kind"`
	TenantID string `json:"tenantId,omitempty"`
	OrderID  string `json:"orderId,omitempty"`
	LinkID   string `json:"linkId,omitempty"`
	// HoldID is the id under which stock is held. It is the order's id, unless the order was reopened.
	HoldID   string `json:"holdId,omitempty"`
	Detail   string `json:"detail,omitempty"`
	Repaired bool   `json:"repaired"`
	// Left says why a difference was not repaired. It is empty without --repair.
	Left string `json:"left,omitempty"`
}

// Report of a run.
type Report struct {
	// EventsFrom: changes of orders before this time were not compared with the feed.
	EventsFrom time.Time `json:"eventsFrom"`
	// Compared counts what was read.
	Compared Compared `json:"compared"`
	// Unpublished counts orders whose last event is in the outbox, where the relay finds it.
	Unpublished int `json:"unpublished"`
	// Unread counts orders whose last event the feed may yet read from Kafka, because it is behind.
	Unread int `json:"unread"`
	// FeedBehind says what the feed had not stored of what Kafka had; empty if it had stored all.
	FeedBehind  string       `json:"feedBehind,omitempty"`
	Differences []Difference `json:"differences"`
}

// count returns how many differences of a kind were found.
func (r *Report) count(kind Kind) (n int) {
	for _, d := range r.Differences {
		if d.Kind == kind {
			n++
		}
	}
	return n
}

// Compared counts what a run read.
type Compared struct {
	Holds        int `json:"holds"`
	Reservations int `json:"reservations"`
	LinkOrders   int `json:"linkOrders"`
	ClaimedLinks int `json:"claimedLinks"`
	Orders       int `json:"orders"`
	Events       int `json:"events"`
}

// Left counts the differences that remain, and what could not be compared.
func (r *Report) Left() int {
	n := r.Unread
	for _, d := range r.Differences {
		if !d.Repaired {
			n++
		}
	}
	return n
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(r); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// maxShown bounds how many differences of a kind the table shows. JSON has all.
const maxShown = 20

// WriteTable writes the counts of all kinds and the first differences of each.
func (r *Report) WriteTable(w io.Writer) error {
	var rows, text strings.Builder
	rows.WriteString("DIFFERENCE\tFOUND\tREPAIRED\tLEFT\tMEANING\n")
	var details strings.Builder
	for _, k := range kinds {
		found, repaired := 0, 0
		for _, d := range r.Differences {
			if d.Kind != k.kind {
				continue
			}
			if found++; found <= maxShown {
				fmt.Fprintf(&details, "%s  %s\n", d.Kind, d.line())
			}
			if d.Repaired {
				repaired++
			}
		}
		if found > maxShown {
			fmt.Fprintf(&details, "%s  and %d more: --json shows all\n", k.kind, found-maxShown)
		}
		fmt.Fprintf(&rows, "%s\t%d\t%d\t%d\t%s\n", k.kind, found, repaired, found-repaired, k.meaning)
	}
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	_, errTable := io.WriteString(table, rows.String())
	if err := errors.Join(errTable, table.Flush()); err != nil {
		return err
	}
	c := r.Compared
	fmt.Fprintf(&text,
		"\nCompared %d holds with %d reservations, %d orders of links with %d claimed links, and %d orders changed since %s "+
			"with %d events.\n",
		c.Holds, c.Reservations, c.LinkOrders, c.ClaimedLinks, c.Orders, r.EventsFrom.Format(time.RFC3339), c.Events)
	if r.Unpublished > 0 {
		fmt.Fprintf(&text, "The events of %d orders are in the outbox. The relay publishes them.\n", r.Unpublished)
	}
	if r.Unread > 0 {
		fmt.Fprintf(&text, "The feed is behind Kafka (%s), and may lack the events of %d orders for that reason. Run again when it has "+
			"caught up.\n", r.FeedBehind, r.Unread)
	}
	if details.Len() > 0 {
		fmt.Fprintf(&text, "\n%s", details.String())
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func (d Difference) line() string {
	var parts []string
	for _, part := range []struct{ name, value string }{
		{"tenant", d.TenantID}, {"order", d.OrderID}, {"link", d.LinkID}, {"hold", d.HoldID}, {"", d.Detail},
	} {
		if part.value != "" {
			parts = append(parts, strings.TrimSpace(part.name+" "+part.value))
		}
	}
	if d.Repaired {
		parts = append(parts, "repaired")
	} else if d.Left != "" {
		parts = append(parts, "left: "+d.Left)
	}
	return strings.Join(parts, ", ")
}
