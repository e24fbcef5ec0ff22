// Package entropytest measures how random made-up keys, secrets and tokens are.
package entropytest

import "math"

// Bits is the randomness that texts of one length show, in bits of each. A place counts for the characters seen there, so
// one that always holds the same adds nothing, and a thousand texts are enough for an alphabet of 64.
func Bits(texts []string) float64 {
	var sum float64
	for place := range texts[0] {
		seen := map[byte]bool{}
		for _, text := range texts {
			seen[text[place]] = true
		}
		sum += math.Log2(float64(len(seen)))
	}
	return sum
}
