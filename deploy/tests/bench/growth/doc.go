// Package growth measures whether the platform slows down with the amount of data it has stored. Platforms of different sizes
// run concurrently, and each operation is called at all of them in turn, so that other work on the machine affects all. The
// result is the median at a size divided by the median at the smallest size.
//
// The sizes are those of one business at different ages: a tenant places an order every eight seconds for a day, for a quarter
// of a year, or for two and a half years. The number of recent rows is the same at every size; only the number of old ones
// differs.
//
// The operations are calls of the services, without the gateway: it stores nothing and would only make the ratios smaller.
// The largest size is measured only if GIFTING_BENCH_ROWS says so.
package growth
