package etcd

import (
	"bytes"
	"context"
	"io"
	"testing"

	"github.com/etcdpilot/etcd-operator/internal/etcd/embedtest"
)

// BenchmarkFigures reads the metrics of a real member, once it has them.
func BenchmarkFigures(b *testing.B) {
	text := realMetrics(b)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		f := figures{}
		if err := f.scan(bytes.NewReader(text)); err != nil || f.flushes.count == 0 {
			b.Fatal(f, err)
		}
	}
}

// TestFiguresAllocateNoLines has a thousand clusters' metrics read without work for the garbage collector: most of their lines do not matter.
func TestFiguresAllocateNoLines(t *testing.T) { //nolint:paralleltest // what other tests allocate would count
	text := realMetrics(t)
	lines := bytes.Count(text, []byte("\n"))
	allocated := testing.AllocsPerRun(10, func() {
		f := figures{}
		if err := f.scan(bytes.NewReader(text)); err != nil {
			t.Error(err)
		}
	})
	if allocated > float64(lines)/10 {
		t.Errorf("%.0f allocations for %d lines", allocated, lines)
	}
}

func realMetrics(t testing.TB) (text []byte) {
	t.Helper()
	err := readMetrics(context.Background(), embedtest.Start(t, 1).Members[0].Address, func(served io.Reader) (err error) {
		text, err = io.ReadAll(served)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
