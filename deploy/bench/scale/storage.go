package scale

// What rows take where the growth benchmarks have none such. The sizes of rows were seen once, among a hundred thousand
// in PostgreSQL 15 with the indexes of the schema; how long texts are and how many rows a change makes is assumed.
const (
	// measuredData is the data of an event in GrowthOfFeed (fill_feed_test.go), usualData that of an order with every field in use.
	measuredData, usualData = 276, 1000
	// auditBytes are of a record of the audit, messageBytes of a message with two hundred characters.
	auditBytes, messageBytes = 353, 590
	// messagesOfChange is how many of the later changes are a message: the others are changes of the status.
	messagesOfChange = 0.5
	// The webhook service keeps the body of an event (usualData in its envelope), the delivery after its claim and its end,
	// and one attempt with a short answer.
	bodyBytes, deliveryBytes, attemptBytes = 1453, 485, 212
)

// For how long is reckoned: the defaults of the feed and of the delivery log. Orders and messages are never dropped, the
// audit after these three years.
const (
	daysOfFeed   = 30
	daysOfLog    = 30
	yearsOfOrder = 3
	daysOfYear   = 365
	hour         = 3600
)

// ordersBytes are of the orders of the years, with what their later changes leave beside them.
func ordersBytes(u Units, l Load) float64 {
	const later = auditBytes + messagesOfChange*messageBytes
	return l.ofDay(l.Orders*u.OrderBytes+l.LaterChanges()*later) * yearsOfOrder * daysOfYear
}

func feedBytes(u Units, l Load) float64 { return l.ofDay(l.Changes*u.EventBytes) * daysOfFeed }

// logBytes takes every change to go to one endpoint.
func logBytes(l Load) float64 {
	return l.ofDay(l.Changes*(bodyBytes+deliveryBytes+attemptBytes)) * daysOfLog
}

// ofDay is what comes together in a day of what the busy hour has in a second.
func (l Load) ofDay(ofSecond float64) float64 { return ofSecond * l.BusyHours * hour }
