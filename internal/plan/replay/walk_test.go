package replay_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// fields visits every field of a type and of those that it is made of, each type once.
func fields(typ reflect.Type, seen []reflect.Type, visit func(at string, f reflect.StructField)) []reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
		typ = typ.Elem()
	}
	if typ.Kind() != reflect.Struct || typ == reflect.TypeFor[time.Time]() || slices.Contains(seen, typ) {
		return seen
	}
	seen = append(seen, typ)
	for i := range typ.NumField() {
		f := typ.Field(i)
		visit(typ.Name()+"."+f.Name, f)
		seen = fields(f.Type, seen, visit)
	}
	return seen
}

// fill puts something that is not zero into every field; what holds one of its own kind gets as many of them in each other.
func fill(v reflect.Value, at string, text func(at string) string, deep int) {
	switch v.Kind() {
	case reflect.Pointer:
		if strings.HasSuffix(at, ".Previous") && deep == 0 {
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), at, text, deep-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), at, text, deep)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, text, deep)
		}
	case reflect.String:
		v.SetString(text(at))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(1<<40 + int64(len(at)))
	case reflect.Uint64:
		v.SetUint(1<<64 - 1 - uint64(len(at)))
	default:
		panic(fmt.Sprintf("%s is a %s", at, v.Kind()))
	}
}

// write writes every text in a value.
func write(v reflect.Value, to *strings.Builder) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			write(v.Elem(), to)
		}
	case reflect.Slice:
		for i := range v.Len() {
			write(v.Index(i), to)
		}
	case reflect.Struct:
		if v.Type() != reflect.TypeFor[time.Time]() {
			for i := range v.NumField() {
				write(v.Field(i), to)
			}
		}
	case reflect.String:
		to.WriteString(v.String())
	default:
	}
}
