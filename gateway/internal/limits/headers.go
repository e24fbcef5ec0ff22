package limits

import (
	"fmt"
	"math"
	"net/http"
)

// WriteHeaders writes the fields of the IETF draft on rate-limit headers.
func (p Policy) WriteHeaders(h http.Header, v Verdict) {
	h.Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%.0f", p.Name, p.Limit, p.Window.Seconds()))
	h.Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%.0f", p.Name, v.Remaining, math.Ceil(v.Reset.Seconds())))
}
