package datasets

// Optional is a value that may be absent; the zero Optional is absent.
type Optional[T any] struct {
	value   T
	present bool
}

// Some returns a present value.
func Some[T any](v T) Optional[T] { return Optional[T]{v, true} }

// Value returns the value, and false if it is absent.
func (o Optional[T]) Value() (T, bool) { return o.value, o.present }
