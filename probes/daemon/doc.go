// Package daemon asks the time daemons of a host what they claim of its clock.
//
// [Daemons] lists what can be asked, a file each. [Open] finds the one that a target
// names, NAME or NAME@ADDRESS, at the first of its usual places that answers, and
// [Daemon.Ask] asks it once: every source it speaks of becomes a claim in a [Reading].
// Nothing is ever set, neither in a daemon nor in a clock.
//
// What comes back is not trusted. A datagram counts only as the answer to the question
// that is open: its sequence number, command and addressee must be that question's, and
// any other (a late one, one for another program) is left aside and counted. After an
// error the way to the daemon is dialled again from another port or socket, so that an
// answer that comes too late finds nobody. Each asking ends at its context's deadline.
//
// Signs are turned to θ, positive when the local clock is slow, or loses. The facts of
// a claim alone are as the daemon gave them. Where a daemon's own documents say how far
// the clock may be off, the claim has that as its bound; where they do not, it has none.
package daemon
