package conformance

import (
	"go/ast"
	"go/token"
	"strconv"
)

// meaning of a variable: the texts it can be, or the elements of the table that it goes through.
type meaning struct {
	texts    []string
	elements []ast.Expr
	element  ast.Expr
}

// scope knows variables by name.
type scope map[string]meaning

func (s scope) with(more scope) scope {
	out := scope{}
	for _, known := range []scope{s, more} {
		for name, m := range known {
			out[name] = m
		}
	}
	return out
}

// ranged gives the variables of a loop over a table that is written out.
func (s *source) ranged(loop *ast.RangeStmt) scope {
	table, ok := loop.X.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	var keys []string
	var values []ast.Expr
	for _, element := range table.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			keys = append(keys, s.texts(pair.Key, nil)...)
			element = pair.Value
		}
		values = append(values, element)
	}
	var texts []string
	for _, value := range values {
		texts = append(texts, s.texts(value, nil)...)
	}
	out := scope{}
	if key, ok := loop.Key.(*ast.Ident); ok {
		out[key.Name] = meaning{texts: keys}
	}
	if value, ok := loop.Value.(*ast.Ident); ok {
		out[value.Name] = meaning{texts: texts, elements: values, element: elementType(table.Type)}
	}
	return out
}

func elementType(table ast.Expr) ast.Expr {
	switch t := table.(type) {
	case *ast.ArrayType:
		return t.Elt
	case *ast.MapType:
		return t.Value
	}
	return nil
}

// texts are all that an expression can be; none where that is not written out.
func (s *source) texts(e ast.Expr, known scope) []string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return []string{text}
		}
	case *ast.Ident:
		return known[e.Name].texts
	case *ast.SelectorExpr:
		if holder, ok := e.X.(*ast.Ident); ok {
			return s.members(known[holder.Name], e.Sel.Name)
		}
	case *ast.BinaryExpr:
		var out []string
		for _, left := range s.texts(e.X, known) {
			for _, right := range s.texts(e.Y, known) {
				out = append(out, left+right)
			}
		}
		return out
	}
	return nil
}

// members are the texts of one member in every element of a table.
func (s *source) members(table meaning, name string) []string {
	place := s.place(table.element, name)
	var out []string
	for _, element := range table.elements {
		literal, ok := element.(*ast.CompositeLit)
		if !ok {
			continue
		}
		for i, member := range literal.Elts {
			if pair, ok := member.(*ast.KeyValueExpr); ok {
				if called(pair.Key) == name {
					out = append(out, s.texts(pair.Value, nil)...)
				}
			} else if i == place {
				out = append(out, s.texts(member, nil)...)
			}
		}
	}
	return out
}

// place of a member in its type; -1: it has none.
func (s *source) place(of ast.Expr, name string) int {
	if named, ok := of.(*ast.Ident); ok {
		of = s.types[named.Name]
	}
	record, ok := of.(*ast.StructType)
	if !ok {
		return -1
	}
	i := 0
	for _, field := range record.Fields.List {
		for _, one := range field.Names {
			if one.Name == name {
				return i
			}
			i++
		}
	}
	return -1
}
