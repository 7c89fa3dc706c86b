//! The tool calls that wait for a result, with everything that a worker needs to run them after a crash.

use std::sync::Arc;

use crate::Result;
use crate::context::message::ToolCall;
use crate::context::tools::Tools;
use crate::session::session::{Session, Status};
use crate::session::transcript::{blob, message::MessageRecord};
use crate::store::pages::Pages;

/// A call that waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCall {
    /// The message that makes it.
    pub message: u64,
    /// The call.
    pub call: ToolCall,
}

impl Session<'_> {
    /// The calls without a result, in their order, each by the name that its tool was declared with. Reads the messages of one round.
    pub fn open_calls(&self) -> Result<Vec<OpenCall>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let open = &status.record.tally.open;
            for index in (0..status.record.tally.messages).rev().take_while(|_| !open.is_empty()) {
                let message = MessageRecord::expect(pages, status.place, index)?.whole(pages, status.place)?;
                if message.tool_results().next().is_none() {
                    let waits = |call: &&ToolCall| open.contains(&call.id);
                    let tools = tools(pages, &status)?;
                    let name = |call: &ToolCall| tools.as_ref().map_or(&*call.name, |tools| tools.declared(&call.name)).into();
                    let waiting = message.tool_calls().filter(waits);
                    return Ok(waiting.map(|one| OpenCall { message: index, call: ToolCall { name: name(one), ..one.clone() } }).collect());
                }
            }
            Ok(Vec::new())
        })
    }
}

/// The tools of a session as it is now.
fn tools<P: Pages>(pages: &P, status: &Status) -> Result<Option<Arc<Tools>>> {
    let Some(given) = status.epoch.tools else { return Ok(None) };
    Tools::parse(&blob::get(pages, status.place.partition, given.hash)?)
}
