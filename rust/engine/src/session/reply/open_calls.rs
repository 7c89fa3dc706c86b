//! The tool calls that wait for a result, with everything that a worker needs to run them after a crash.

use crate::Result;
use crate::context::message::ToolCall;
use crate::session::session::Session;
use crate::session::transcript::message::MessageRecord;

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The message that makes it.
    pub message: u64,
    /// The call.
    pub call: ToolCall,
}

impl Session<'_> {
    /// The calls without a result, in their order. Reads the messages of one round.
    pub fn open_calls(&self) -> Result<Vec<OpenCall>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let open = &status.record.tally.open;
            for index in (0..status.record.tally.messages).rev().take_while(|_| !open.is_empty()) {
                let message = MessageRecord::expect(pages, status.place, index)?.whole(pages, status.place)?;
                if message.tool_results().next().is_none() {
                    let waits = |call: &&ToolCall| open.contains(&call.id);
                    return Ok(message.tool_calls().filter(waits).map(|call| OpenCall { message: index, call: call.clone() }).collect());
                }
            }
            Ok(Vec::new())
        })
    }
}
