//! Times: aware `datetime` objects on the Python side, microseconds since 1970 (UTC) on the other; and the clock that tells them.

use std::time::{SystemTime, UNIX_EPOCH};

use memspan_engine::process::Once;
use memspan_engine::recall::when::{Range, read_on_a_wall};
use pyo3::prelude::*;
use pyo3::types::{PyDateTime, PyDelta, PyDict, PyTzInfo};

use crate::errors::{invalid, type_name};

/// 0001-01-01T00:00:00Z, the first moment that a `datetime` can hold.
pub const FIRST: i64 = -62_135_596_800_000_000;
/// 9999-12-31T23:59:59.999999Z, the last.
pub const LAST: i64 = 253_402_300_799_999_999;

const DAY: i64 = 86_400_000_000;
const SECOND: i64 = 1_000_000;

fn epoch(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static EPOCH: Once<Py<PyAny>> = Once::new();
    let make = || PyResult::Ok(PyDateTime::new(py, 1970, 1, 1, 0, 0, 0, 0, Some(&*PyTzInfo::utc(py)?))?.into_any().unbind());
    EPOCH.get_or_try_init(make).map(|epoch| epoch.bind(py))
}

fn microsecond(py: Python<'_>) -> PyResult<&Bound<'_, PyAny>> {
    static MICROSECOND: Once<Py<PyAny>> = Once::new();
    MICROSECOND.get_or_try_init(|| PyResult::Ok(PyDelta::new(py, 0, 0, 1, false)?.into_any().unbind())).map(|one| one.bind(py))
}

/// An aware `datetime` in UTC.
pub fn to_python(py: Python<'_>, microseconds: i64) -> PyResult<Bound<'_, PyAny>> {
    // A clock near its end, or a time to live of a thousand years, may lead past what a `datetime` can say.
    let microseconds = microseconds.clamp(FIRST, LAST);
    let within = microseconds.rem_euclid(DAY);
    let delta = PyDelta::new(py, microseconds.div_euclid(DAY) as i32, (within / SECOND) as i32, (within % SECOND) as i32, false)?;
    epoch(py)?.add(delta)
}

/// The treatment of a `datetime` without a zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naive {
    /// It is UTC.
    Utc,
    /// It is refused, because a clock that forgets its zone is wrong by hours for half of the world.
    Refused,
}

/// Microseconds since 1970 of a `datetime`.
pub fn from_python(name: &str, value: &Bound<'_, PyAny>, naive: Naive) -> PyResult<i64> {
    let py = value.py();
    if !value.is_instance_of::<PyDateTime>() {
        return Err(invalid(py, format!("reading {name}: it must be a datetime.datetime, and it is {}: make one of it", type_name(value))));
    }
    let mut aware = value.clone();
    if value.call_method0("utcoffset")?.is_none() {
        if naive == Naive::Refused {
            return Err(invalid(
                py,
                format!("reading {name}: it must return an aware datetime, and {value} has no zone: return datetime.now(timezone.utc)"),
            ));
        }
        let zone = PyDict::new(py);
        zone.set_item("tzinfo", PyTzInfo::utc(py)?)?;
        aware = value.call_method("replace", (), Some(&zone))?;
    }
    let microseconds: i64 = aware.sub(epoch(py)?)?.floor_div(microsecond(py)?)?.extract()?;
    let (first, year) = if naive == Naive::Refused { (0, 1970) } else { (FIRST, 1) }; // a store's own times begin in 1970
    if (first..=LAST).contains(&microseconds) {
        return Ok(microseconds);
    }
    let rule = format!("a time lies between the years {year} and 9999 in UTC, and {value} does not");
    Err(invalid(py, format!("reading {name}: {rule}: use a time within them")))
}

/// The time that a text names by a clock in a zone: of one that it shows twice the first, and the limits of a `datetime` for one beyond.
pub fn named_in(zone: &Bound<'_, PyAny>, text: &str, now: i64) -> PyResult<Option<Range>> {
    let py = zone.py();
    let read_as = |moment: &Bound<'_, PyAny>, zone: &Bound<'_, PyAny>| {
        let options = PyDict::new(py);
        options.set_item("tzinfo", zone)?;
        from_python("timezone", &moment.call_method("replace", (), Some(&options))?, Naive::Utc)
    };
    let to_local = |now| read_as(&to_python(py, now)?.call_method1("astimezone", (zone,))?, py.None().bind(py));
    read_on_a_wall(text, now, to_local, |local| read_as(&to_python(py, local)?, zone))
}

/// Where the time comes from. Asked once a call, before the engine is entered.
#[derive(Debug)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A callable that returns an aware `datetime`.
    Callable(Py<PyAny>),
}

impl Clock {
    /// The clock that was given.
    pub fn new(clock: &Bound<'_, PyAny>) -> PyResult<Self> {
        if clock.is_callable() {
            return Ok(Self::Callable(clock.clone().unbind()));
        }
        let rule = "clock must be a callable that returns an aware datetime";
        let next = "pass for instance memspan.testing.FakeClock()";
        Err(invalid(clock.py(), format!("opening a store: {rule}, and {clock} cannot be called: {next}")))
    }

    /// Microseconds since 1970 (UTC).
    pub fn now(&self, py: Python<'_>) -> PyResult<i64> {
        match self {
            Self::System => Ok(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)),
            Self::Callable(clock) => from_python("the clock", clock.bind(py).call0()?.as_any(), Naive::Refused),
        }
    }
}
