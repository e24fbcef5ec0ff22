package limits

import (
	"net/http"
	"strconv"
	"time"
)

// WriteHeaders writes the headers of the IETF draft on rate limits.
func (p Policy) WriteHeaders(h http.Header, v Verdict) {
	name := `"` + p.Name + `"`
	h.Set("RateLimit-Policy", name+";q="+strconv.Itoa(p.Limit)+";w="+seconds(p.Window))
	h.Set("RateLimit", name+";r="+strconv.Itoa(v.Remaining)+";t="+seconds(v.Reset))
}

// seconds rounds up to whole seconds.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}
