package edge

import (
	"context"
	"log/slog"
	"time"
)

// logAccess writes one line per request. It has the route's template instead of the path, and no
// query, address or user agent: none of what a caller writes, which may be personal data. The
// line's trace id is the answer's Request-Id.
func (h *Handler) logAccess(ctx context.Context, method, route string, rec *recorder, c *call, took time.Duration) {
	const most = 7
	attrs := append(make([]slog.Attr, 0, most), slog.String("method", knownMethod(method)), slog.String("route", route),
		slog.Int("status", rec.status), slog.Int("bytes", rec.bytes), slog.Duration("took", took))
	if c != nil && c.principal.TenantID != "" {
		attrs = append(attrs, slog.String("tenant_id", c.principal.TenantID), slog.Int("key_id", int(c.principal.KeyID)))
	}
	h.Log.LogAttrs(ctx, slog.LevelInfo, "request", attrs...)
}
