package e2e_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
)

// span is a span that a service sent.
type span struct {
	*otlp.Span

	service string
}

// trace is the spans with one trace id.
type trace []span

func id(raw []byte) string { return hex.EncodeToString(raw) }

func text(attributes []*common.KeyValue, key string) string {
	for _, a := range attributes {
		if a.GetKey() == key {
			return a.GetValue().GetStringValue()
		}
	}
	return ""
}

// root is the span without a parent.
func (t trace) root() (span, bool) {
	i := slices.IndexFunc(t, func(s span) bool { return len(s.GetParentSpanId()) == 0 })
	if i < 0 {
		return span{}, false
	}
	return t[i], true
}

// below returns the children of a span in the order in which they began.
func (t trace) below(parent span) trace {
	var children trace
	for _, s := range t {
		if id(s.GetParentSpanId()) == id(parent.GetSpanId()) {
			children = append(children, s)
		}
	}
	slices.SortFunc(children, func(a, b span) int { return int(a.GetStartTimeUnixNano()) - int(b.GetStartTimeUnixNano()) })
	return children
}

// step describes a span on a path through the trace, by the beginning or end of its name.
type step struct {
	service string
	kind    otlp.Span_SpanKind
	name    string
}

func (s step) fits(found span) bool {
	return found.service == s.service && found.GetKind() == s.kind &&
		(strings.HasPrefix(found.GetName(), s.name) || strings.HasSuffix(found.GetName(), s.name))
}

// find follows a path from the root to a span, from parent to child.
func (t trace) find(path ...step) (span, bool) {
	at, ok := t.root()
	if !ok || !path[0].fits(at) {
		return span{}, false
	}
	return t.follow(at, path[1:])
}

func (t trace) follow(at span, path []step) (span, bool) {
	if len(path) == 0 {
		return at, true
	}
	for _, child := range t.below(at) {
		if path[0].fits(child) {
			if found, ok := t.follow(child, path[1:]); ok {
				return found, true
			}
		}
	}
	return span{}, false
}

// links reports whether the span links to the one with the ids.
func (s span) links(traceID, spanID string) bool {
	return slices.ContainsFunc(s.GetLinks(), func(l *otlp.Span_Link) bool {
		return id(l.GetTraceId()) == traceID && id(l.GetSpanId()) == spanID
	})
}

// tree is a readable form of the trace: service, name, start and duration of each span.
func (t trace) tree() string {
	var out strings.Builder
	if root, ok := t.root(); ok {
		t.write(&out, root, root, "")
	}
	return out.String()
}

func (t trace) write(out *strings.Builder, root, at span, indent string) {
	since := func(from, to uint64) string {
		return time.Duration(to - from).Round(10 * time.Microsecond).String()
	}
	kind := strings.ToLower(strings.TrimPrefix(at.GetKind().String(), "SPAN_KIND_"))
	links := ""
	if n := len(at.GetLinks()); n > 0 {
		links = fmt.Sprintf(", links to %d", n)
	}
	fmt.Fprintf(out, "%s%s: %s (%s, at %s for %s%s)\n", indent, at.service, at.GetName(), kind,
		since(root.GetStartTimeUnixNano(), at.GetStartTimeUnixNano()), since(at.GetStartTimeUnixNano(), at.GetEndTimeUnixNano()), links)
	for _, child := range t.below(at) {
		t.write(out, root, child, indent+"  ")
	}
}
