package docs_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// luminance is the relative luminance of a colour, such as #1b2430 (WCAG 2.2).
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	var sum float64
	for i, share := range []float64{0.2126, 0.7152, 0.0722} {
		part, err := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8)
		require.NoError(t, err)
		value := float64(part) / 255
		if value <= 0.04045 {
			sum += share * value / 12.92
		} else {
			sum += share * math.Pow((value+0.055)/1.055, 2.4)
		}
	}
	return sum
}

func TestTextsHaveContrastInLightAndDark(t *testing.T) {
	t.Parallel()
	sheet, err := os.ReadFile("assets/banner.css")
	require.NoError(t, err)
	found := regexp.MustCompile(`--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);`).FindAllSubmatch(sheet, -1)
	for scheme, name := range []string{"light", "dark"} {
		colours := map[string]string{}
		for _, m := range found {
			colours[string(m[1])] = string(m[2+scheme])
		}
		for background, texts := range map[string][]string{
			"page":         {"text", "muted", "link"},
			"raised":       {"text", "muted", "link", "code", "comment", "keyword", "string", "number", "function"},
			"tint":         {"text", "muted", "link", "code"},
			"warning-tint": {"text", "link", "warning"},
			"found":        {"text"},
		} {
			for _, text := range texts {
				one, other := luminance(t, colours[text]), luminance(t, colours[background])
				require.GreaterOrEqual(t, (max(one, other)+0.05)/(min(one, other)+0.05), 4.5, "%s: %s on %s", name, text, background)
			}
		}
	}
}
