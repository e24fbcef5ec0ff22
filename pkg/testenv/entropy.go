package testenv

import "math"

// EntropyBits estimates the randomness of texts of one length, in bits per text. Each position counts with the number of different
// characters seen there. A thousand texts are enough for an alphabet of 64.
func EntropyBits(texts []string) float64 {
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
