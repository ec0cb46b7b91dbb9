//! Conditions that must all hold.

use super::condition::Condition;
use super::parse::ConditionError;

/// Conditions that must all hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    conditions: Vec<Condition>,
}

/// Why a filter cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FilterError {
    /// Number of the condition, from 0.
    pub condition: usize,
    /// Byte of its text, if the text is wrong.
    pub at: Option<usize>,
    /// The fault.
    pub message: String,
    /// A way out.
    pub hint: Option<String>,
}

impl Filter {
    /// The most conditions that there can be.
    pub const MAX_CONDITIONS: usize = 64;

    /// Reads conditions from their text form.
    ///
    /// # Errors
    /// On the first condition that is not one.
    ///
    /// ```
    /// use memtrail_profile::filter::Filter;
    /// let filter = Filter::parse(&["live:end", "-in:~test"])?;
    /// assert_eq!(filter.conditions()[0].description(), "live at the end");
    /// assert_eq!(Filter::parse(&["size:4X"]).map_err(|error| error.at), Err(Some(6)));
    /// # Ok::<(), memtrail_profile::filter::FilterError>(())
    /// ```
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, FilterError> {
        let condition = |(condition, text): (usize, &T)| {
            text.as_ref().parse().map_err(|ConditionError { at, message, hint }| FilterError {
                condition,
                at: Some(at),
                message,
                hint,
            })
        };
        // One too many at most, so that a long list is not read to its end.
        let conditions = texts.iter().take(Self::MAX_CONDITIONS + 1).enumerate().map(condition);
        Self::new(conditions.collect::<Result<_, _>>()?)
    }

    /// All of these.
    ///
    /// # Errors
    /// If there are more than [`Filter::MAX_CONDITIONS`].
    pub fn new(conditions: Vec<Condition>) -> Result<Self, FilterError> {
        if conditions.len() > Self::MAX_CONDITIONS {
            return Err(FilterError {
                condition: Self::MAX_CONDITIONS,
                at: None,
                message: format!("more than {} conditions", Self::MAX_CONDITIONS),
                hint: Some("one condition can have several values: in:a,b".to_owned()),
            });
        }
        Ok(Self { conditions })
    }

    /// In the order of the text.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }
}
