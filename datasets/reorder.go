package datasets

// reorder puts attempts that another tool numbers into their order: an answer may come
// after that of a later attempt, twice, or never. It keeps the last ones and hands over
// those before them: an answer that comes later than that is not counted.
type reorder struct {
	begun bool
	from  int64 // the number of the first attempt, if that is told
	last  int64 // the greatest number so far
	next  int64 // the first that was not handed over
	kept  map[int64]Sample
	lost  func(n int64) Sample // what an attempt is of which nothing was heard
	out   func(n int64, s Sample)
}

const (
	keptAttempts = 1024    // by how many an answer may be late
	longestGap   = 1 << 16 // more missing ones than that are none: the numbers began anew
)

// unwrap returns which attempt a number of 16 bits is of: the one nearest to the last.
func (r *reorder) unwrap(n uint16) int64 {
	if !r.begun {
		return int64(n)
	}
	return r.last + int64(int16(n-uint16(r.last)))
}

// add takes what became of one attempt. A second answer is a copy, and an answer is worth
// more than anything else that was told of the attempt.
func (r *reorder) add(n int64, s Sample) {
	switch {
	case !r.begun:
		r.begin(n)
	case n < r.next:
		return
	case n-r.last > longestGap:
		r.flush(r.last + 1)
		r.last, r.next = n, n
	}
	was, again := r.kept[n]
	switch {
	case again && was.Outcome.Answered() && s.Outcome.Answered():
		was.Copies++
		r.kept[n] = was
	case !again || !was.Outcome.Answered():
		r.kept[n] = s
	}
	r.last = max(r.last, n)
	r.flush(r.last - keptAttempts)
}

func (r *reorder) begin(n int64) {
	r.begun, r.last, r.next, r.kept = true, n, n, map[int64]Sample{}
	if r.from <= n && n-r.from < keptAttempts {
		r.next = r.from
	}
}

// unread notes that there is an answer, and that it cannot be read: it is no loss.
func (r *reorder) unread(n int64) {
	if !r.begun {
		r.begin(n)
	}
	if n >= r.next && n-r.last <= longestGap {
		r.kept[n] = Sample{Outcome: Invalid, Due: -1}
		r.last = max(r.last, n)
	}
}

// flush hands over what is before n.
func (r *reorder) flush(n int64) {
	for ; r.next < n; r.next++ {
		s, heard := r.kept[r.next]
		if !heard {
			s = r.lost(r.next)
		}
		delete(r.kept, r.next)
		r.out(r.next, s)
	}
}

// end hands over the rest, and those behind it that were sent before the attempt n.
func (r *reorder) end(n int64) {
	if r.begun {
		r.flush(max(r.last+1, min(n, r.last+longestGap)))
	}
}
