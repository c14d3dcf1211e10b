// Package doctor finds out what this host can measure and what stands in the way.
//
// Each [Check] looks at one subject and returns findings: what is so, why it matters
// for a measurement, and what to do about it. A check reads the host only through a
// [Host], so that a test can build any host, and it changes nothing and sends nothing.
//
// What could not be read for want of rights is named in [Diagnosis.Unread], not
// passed over: a doctor who was not let in says so.
package doctor
