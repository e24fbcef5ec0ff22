// Package growth measures whether the platform slows down with what it has stored. Platforms of different sizes run
// beside each other, and each operation is made at all of them in turn, so that whatever else the machine does meets
// all. What counts is the median at a size divided by the median at the smallest.
//
// The sizes are of one business at different ages: a tenant places an order every eight seconds, for a day, for a
// quarter of a year, for two and a half years. What is young is as much at every size, what is old is more.
//
// The operations are calls of the services, without the gateway, which stores nothing and would only make the ratios
// smaller. `go test -short` leaves out the largest size.
package growth
