-- A dissector of DLCP's packets for Wireshark and tshark: over UDP they are detected by their first
-- bytes, over RoCEv2 as the payload of an InfiniBand datagram. It decrypts nothing and checks no tag,
-- because that needs the keys, which never leave the ranks.
--
--   tshark -X lua_script:scripts/wireshark/dlcp.lua -r job.pcap -Y dlcp
--   cp scripts/wireshark/dlcp.lua ~/.local/lib/wireshark/plugins/
--
-- Fields are named as in src/wire: dlcp.type, dlcp.message, dlcp.offset, dlcp.path_sequence, ...
-- Wire version 3.

local MAGIC, VERSION = 0xdc, 3
local HEAD_BYTES, CONTROL_HEAD_BYTES, DATA_HEADER_BYTES, CODED_HEADER_BYTES, TAG_BYTES = 12, 16, 44, 52, 8

local types = {
  [1] = "DATA", [2] = "HELLO", [3] = "WELCOME", [4] = "REFUSE", [5] = "START", [6] = "STARTED", [7] = "ACK",
  [8] = "PROBE", [9] = "PING", [10] = "PONG", [11] = "CLOSE", [12] = "CLOSE_ACK", [13] = "RESET",
  [14] = "SENT_ONCE", [15] = "NEED", [16] = "STOP", [17] = "ECHO_REQUEST", [18] = "ECHO_REPLY",
  [19] = "LINK", [20] = "PERMITS",
  [255] = "NOTE",  -- from DLCP_TRACE: a decision of a rank that no packet shows; never on a network
}
local classes = {
  [0] = "control", [1] = "exact", [2] = "urgent-protected", [3] = "urgent-droppable", [4] = "bulk-protected",
  [5] = "bulk-middle", [6] = "bulk-droppable",
}
local protections = { [0] = "header", [1] = "full", [2] = "encrypted" }
local causes = { [1] = "settings differ", [2] = "listener closed" }

local dlcp = Proto("dlcp", "DLCP transport")
local f = {}
local function field(name, make, title, ...)
  f[name] = make("dlcp." .. name, title, ...)
end

field("version", ProtoField.uint8, "Wire version")
field("type", ProtoField.uint8, "Type", base.DEC, types)
field("path", ProtoField.uint8, "Path")
field("destination", ProtoField.uint64, "Destination token", base.HEX)
field("tag", ProtoField.bytes, "Tag")
field("sequence", ProtoField.uint32, "Number of the control frame")
-- DATA
field("traffic_class", ProtoField.uint8, "Traffic class", base.DEC, classes, 0x70)
field("licensed", ProtoField.bool, "Licensed: may be lost", 8, nil, 0x01)
field("retransmission", ProtoField.bool, "Retransmission", 8, nil, 0x02)
field("asks_ack", ProtoField.bool, "Asks for an ACK at once", 8, nil, 0x04)
field("coded", ProtoField.bool, "Compressed", 8, nil, 0x08)
field("copied", ProtoField.bool, "The sender has its own copy", 8, nil, 0x80)
field("message", ProtoField.uint32, "Message")
field("message_bytes", ProtoField.uint32, "Message bytes")
field("offset", ProtoField.uint32, "Offset")
field("path_sequence", ProtoField.uint32, "Sequence on this path")
field("sent_at", ProtoField.uint32, "Send time, 128 ns")
field("reply_path", ProtoField.uint8, "Reply path")
field("window_epoch", ProtoField.uint16, "Window epoch")
field("chunk_granules", ProtoField.uint16, "Chunk of the compressed message, 128 bytes")
field("plain_bytes", ProtoField.uint16, "Bytes that the payload stands for")
field("coded_bytes", ProtoField.uint16, "Bytes of the payload without padding")
field("unused", ProtoField.uint16, "Unused")
field("payload", ProtoField.bytes, "Payload")
field("payload_bytes", ProtoField.uint32, "Payload bytes")
-- handshake
field("listener_number", ProtoField.uint32, "Listener's number")
field("sender_token", ProtoField.uint64, "Sender's token", base.HEX)
field("receiver_token", ProtoField.uint64, "Receiver's token", base.HEX)
field("address", ProtoField.bytes, "Address")
field("datagram_bytes_max", ProtoField.uint32, "Largest datagram")
field("bundle", ProtoField.uint64, "Bundle", base.HEX)
field("member", ProtoField.uint8, "Member of it")
field("lanes", ProtoField.uint8, "Lanes")
field("association", ProtoField.uint64, "Association, the sender's token", base.HEX)
field("receiver_association", ProtoField.uint64, "Association, the receiver's token", base.HEX)
field("stream", ProtoField.uint32, "Stream of the association")
field("key_stream", ProtoField.uint32, "Stream whose listener's key the association has")
field("hello_bytes", ProtoField.uint32, "Bytes of the HELLO")
field("protection", ProtoField.uint8, "Protection", base.DEC, protections)
field("payload_bytes_max", ProtoField.uint32, "Payload bytes of a packet")
field("unmarked", ProtoField.bool, "Packets go without DSCP and ECN")
field("cause", ProtoField.uint8, "Cause", base.DEC, causes)
field("reason", ProtoField.string, "Reason")
field("note", ProtoField.string, "Note of a trace")
field("padding", ProtoField.bytes, "Padding, or what later versions say")
-- ACK and window
field("completed", ProtoField.uint32, "Messages complete below")
field("posted", ProtoField.uint32, "Receives posted below")
field("window_packets", ProtoField.uint32, "Window, packets")
field("answers_probe", ProtoField.bool, "Answers a probe")
field("echo", ProtoField.uint32, "Echoed send time, 128 ns")
field("duplicates", ProtoField.uint32, "Duplicates so far")
field("ce_marks", ProtoField.uint8, "CE marks since the last report")
field("highest_sequence", ProtoField.uint32, "Highest sequence")
field("held", ProtoField.uint32, "Held, 128 ns")
field("first_missing", ProtoField.uint32, "First missing chunk")
field("bitmap", ProtoField.bytes, "Bitmap of chunks")
-- bounded loss
field("urgent", ProtoField.bool, "Urgent queue")
field("lost_bytes", ProtoField.uint32, "Bytes lost")
field("first", ProtoField.uint32, "First chunk of the hole")
field("count", ProtoField.uint32, "Chunks of the hole")
-- messages whose packets a card places
field("placed_name", ProtoField.uint32, "Name of the placed packet: slot, generation, flags, chunk", base.HEX)
field("introduction", ProtoField.bytes, "What the peer's card needs to know")
field("segment", ProtoField.uint16, "Segment of the message")
field("slot", ProtoField.uint16, "Slot")
field("generation", ProtoField.uint8, "Generation of the slot")
field("key", ProtoField.uint32, "Key", base.HEX)
field("address", ProtoField.uint64, "Address at the receiver", base.HEX)
field("segment_bytes", ProtoField.uint32, "Bytes of the segment")
-- dlcp doctor
field("devices", ProtoField.stringz, "Devices of a host")
field("frame_bytes", ProtoField.uint32, "Bytes of this frame")
field("reply_bytes", ProtoField.uint32, "Bytes wanted in answer")
field("requests_seen", ProtoField.uint32, "Requests seen")
field("sent_at_ns", ProtoField.uint64, "Prober's clock, ns")
field("echo_sequence", ProtoField.uint32, "Number of the probe")
field("echo_path", ProtoField.uint16, "Path")
field("tos", ProtoField.uint8, "TOS byte as sent", base.HEX)
field("tos_seen", ProtoField.uint8, "TOS byte as it arrived", base.HEX)
field("call_port", ProtoField.uint16, "Port to answer to as well")
field("data_port", ProtoField.uint16, "Port for probes of this path")

local fields = {}
for _, each in pairs(f) do fields[#fields + 1] = each end
dlcp.fields = fields
local malformed = ProtoExpert.new("dlcp.malformed", "Frame is shorter or longer than its fields", expert.group.MALFORMED,
                                  expert.severity.ERROR)
local other_version = ProtoExpert.new("dlcp.other_version", "Another wire version: only its head is read",
                                      expert.group.UNDECODED, expert.severity.WARN)
dlcp.experts = { malformed, other_version }

-- Reads fields one after the other; after a read past the end all further reads fail.
local Cursor = {}
Cursor.__index = Cursor
function Cursor.new(buffer, tree)
  return setmetatable({ buffer = buffer, tree = tree, at = 0, ok = true }, Cursor)
end
function Cursor:left() return self.buffer:len() - self.at end
function Cursor:range(bytes)
  if self:left() < bytes then
    self.ok = false
    return nil
  end
  local range = self.buffer(self.at, bytes)
  self.at = self.at + bytes
  return range
end
function Cursor:number(name, bytes)
  local range = self:range(bytes)
  if not range then return 0 end
  self.tree:add_le(f[name], range)
  return bytes <= 4 and range:le_uint() or 0
end
function Cursor:u8(name) return self:number(name, 1) end
function Cursor:u16(name) return self:number(name, 2) end
function Cursor:u32(name) return self:number(name, 4) end
function Cursor:u64(name) return self:number(name, 8) end
function Cursor:bytes(name, count)
  local range = count > 0 and self:range(count)
  if range then self.tree:add(f[name], range) end
end
function Cursor:counted(name)  -- a length byte, then that many bytes
  local length = self:range(1)
  if length then self:bytes(name, length:uint()) end
end
-- A list of `count` items, each in its own branch.
function Cursor:list(title, count, item)
  for i = 1, count do
    if not self.ok then return end
    local tree, begin = self.tree, self.at
    self.tree = tree:add(dlcp, self.buffer(self.at, math.min(self:left(), 1)), title .. " " .. i)
    item()
    self.tree:set_len(math.max(self.at - begin, 1))
    self.tree = tree
  end
end

local read = {}

function read.HELLO(c)
  c:u32("listener_number"); c:u64("sender_token"); c:counted("address")
  c:u32("hello_bytes"); c:u32("echo"); c:u8("protection")
  if c:left() >= 30 then
    c:u64("bundle"); c:u8("member"); c:u8("lanes")
    c:u64("association"); c:u64("receiver_association"); c:u32("stream")
  end
  c:bytes("padding", c:left())
end

function read.WELCOME(c)
  c:u64("receiver_token"); c:u32("datagram_bytes_max"); c:u32("hello_bytes"); c:u32("echo"); c:u8("protection")
  c:u64("receiver_association"); c:u32("key_stream"); c:u32("payload_bytes_max"); c:u32("posted")
  c:u32("window_packets")
  if c:left() > 0 then
    for _ = 1, c:u8("lanes") do c:counted("address") end
  end
  c:bytes("padding", c:left())
end

function read.REFUSE(c) c:u8("cause"); c:counted("reason") end
function read.START(c) c:u32("payload_bytes_max"); c:u8("protection"); c:u8("unmarked") end
function read.STARTED(c) c:u32("posted"); c:u32("window_packets"); c:u16("window_epoch") end

function read.ACK(c)
  c:u32("window_packets"); c:u16("window_epoch"); c:u8("answers_probe"); c:u32("echo")
  c:u32("duplicates"); c:u32("sent_at")
  local paths = c:range(1)
  c:list("Path", paths and paths:uint() or 0, function()
    c:u8("path"); c:u8("ce_marks"); c:u32("highest_sequence"); c:u32("echo"); c:u32("held")
  end)
  local words, streams, text = 0, c:range(1), {}
  c:list("Stream", streams and streams:uint() or 0, function()
    local stream = c:u32("stream")
    text[#text + 1] = stream .. " below " .. c:u32("completed")
    c:u32("posted")
    local messages = c:range(1)
    c:list("Message", messages and messages:uint() or 0, function()
      c:u32("message"); c:u32("first_missing")
      local count = c:range(2)  -- the highest bit: the message is closing
      words = words + (count and count:le_uint() % 0x8000 or 0)
    end)
  end)
  c:bytes("bitmap", words * 8)
  local placed = c:left() > 0 and c:range(1)
  c:list("Placed", placed and placed:uint() or 0, function() c:u8("path"); c:u32("placed_name"); c:u32("held") end)
  return table.concat(text, ", ")
end

function read.PROBE(c)
  c:u32("echo")
  c:bytes("padding", c:left())
end

read.PING = read.ACK
function read.PONG(c)
  c:u32("echo")
  local unknown = c:range(1)
  c:list("Unknown stream", unknown and unknown:uint() or 0, function() c:u32("stream") end)
end
function read.CLOSE_ACK() end
function read.CLOSE(c) c:u32("completed") end
function read.RESET(c) c:counted("reason") end

function read.SENT_ONCE(c)
  local message = c:u32("message")
  c:u32("message_bytes"); c:u32("echo"); c:u8("path"); c:u8("urgent")
  local marks = c:range(2)
  c:list("Path", marks and marks:le_uint() or 0, function() c:u8("path"); c:u32("path_sequence") end)
  return "message " .. message
end

function read.NEED(c)
  local message = c:u32("message")
  c:u32("echo"); c:u8("path")
  return "message " .. message
end

function read.STOP(c)
  local message, lost = c:u32("message"), c:u32("lost_bytes")
  local holes = c:range(2)
  c:list("Hole", holes and holes:le_uint() or 0, function() c:u32("first"); c:u32("count") end)
  return "message " .. message .. ", " .. lost .. " bytes lost"
end

function read.LINK(c)
  local bytes = c:range(1)
  c:bytes("introduction", bytes and bytes:uint() or 0)
end

function read.PERMITS(c)
  local permits = c:range(1)
  local count = permits and permits:uint() or 0
  c:list("Permit", count, function()
    c:u32("stream"); c:u32("message"); c:u16("segment"); c:u16("slot"); c:u8("generation"); c:u32("key")
    c:u64("address"); c:u32("segment_bytes")
  end)
  return count .. " segments"
end

-- The two frames of `dlcp doctor` belong to no connection: their token is the run's number.
function read.ECHO_REQUEST(c)
  local sequence = c:u32("echo_sequence")
  c:u32("frame_bytes"); c:u32("reply_bytes"); c:u64("sent_at_ns"); c:u16("echo_path"); c:u8("tos"); c:u16("call_port")
  c:bytes("padding", c:left())
  return tostring(sequence)
end

function read.ECHO_REPLY(c)
  local sequence = c:u32("echo_sequence")
  c:u32("frame_bytes"); c:u32("requests_seen"); c:u64("sent_at_ns"); c:u16("echo_path"); c:u8("tos"); c:u8("tos_seen")
  c:u16("data_port")
  c:bytes("padding", c:left())
  return tostring(sequence)
end

local function data(buffer, tree)
  local c = Cursor.new(buffer, tree)
  c.at = 3
  local flags = c:range(1)
  for _, name in ipairs({ "traffic_class", "licensed", "retransmission", "asks_ack", "coded", "copied" }) do tree:add(f[name], flags) end
  c:u64("destination")
  local message = c:u32("message")
  local bytes = c:u32("message_bytes")
  local offset = c:u32("offset")
  c:u32("path_sequence"); c:u32("sent_at"); c:u8("path"); c:u8("reply_path"); c:u16("window_epoch")
  local coded = flags:bitfield(4, 1) == 1
  local payload = buffer:reported_len() - (coded and CODED_HEADER_BYTES or DATA_HEADER_BYTES)  -- captures often truncate it
  local plain = payload
  if coded then
    c:u16("chunk_granules"); plain = c:u16("plain_bytes"); c:u16("coded_bytes"); c:u16("unused")
  end
  c:bytes("tag", TAG_BYTES)
  -- The last packet of a message may be padded to the size of the others.
  if not coded and offset + payload > bytes then payload = math.max(bytes - offset, 0); plain = payload end
  tree:add(f.payload_bytes, buffer(0, 0), payload):set_generated()
  c:bytes("payload", math.min(payload, c:left()))
  c:bytes("padding", c:left())
  return c.ok, string.format("message %d, %d+%d of %d", message, offset, plain, bytes)
end

local function control(buffer, tree, name)
  if buffer:len() < CONTROL_HEAD_BYTES then return false, "" end
  tree:add(f.path, buffer(3, 1))
  tree:add_le(f.destination, buffer(4, 8))
  tree:add_le(f.sequence, buffer(HEAD_BYTES, 4))
  local tag_at = buffer:reported_len() - TAG_BYTES
  local fields_bytes = math.min(tag_at, buffer:len()) - CONTROL_HEAD_BYTES
  local c = Cursor.new(fields_bytes > 0 and buffer(CONTROL_HEAD_BYTES, fields_bytes):tvb() or ByteArray.new():tvb(""), tree)
  local words = read[name](c) or ""
  if buffer:len() < buffer:reported_len() then return true, words end  -- the capture is truncated
  tree:add(f.tag, buffer(tag_at, TAG_BYTES))
  return tag_at >= CONTROL_HEAD_BYTES and c.ok and c:left() == 0, words
end

function dlcp.dissector(buffer, packet, root)
  packet.cols.protocol = "DLCP"
  local tree = root:add(dlcp, buffer())
  tree:add(f.version, buffer(1, 1))
  tree:add(f.type, buffer(2, 1))
  local name = types[buffer(2, 1):uint()] or "?"
  if buffer(1, 1):uint() ~= VERSION then
    tree:add_proto_expert_info(other_version)
    packet.cols.info = "wire version " .. buffer(1, 1):uint()
    return buffer:len()
  end
  local ok, words
  if name == "NOTE" then
    tree:add_le(f.destination, buffer(4, 8))
    ok, words = true, buffer(HEAD_BYTES):string()
    tree:add(f.note, buffer(HEAD_BYTES))
  elseif name == "DATA" then
    ok, words = buffer:len() >= DATA_HEADER_BYTES, ""
    if ok then ok, words = data(buffer, tree) end
  else
    ok, words = control(buffer, tree, name)
  end
  if not ok then tree:add_proto_expert_info(malformed) end
  local info = words ~= "" and (name .. " " .. words) or name
  packet.cols.info = info
  tree:append_text(", " .. info)
  return buffer:len()
end

-- A packet is DLCP's by its magic and a known version or type; others go to the next dissector.
local function is_ours(buffer)
  return buffer:len() >= HEAD_BYTES and buffer(0, 1):uint() == MAGIC and types[buffer(2, 1):uint()] ~= nil and
         buffer(1, 1):uint() >= 1 and buffer(1, 1):uint() <= VERSION
end
-- The first request of `dlcp doctor --peer` has a text instead of the usual head.
local device_frames = { DLCPdvq1 = "DEVICES question", DLCPdva1 = "DEVICES answer" }
local function devices(buffer, packet, root)
  local words = buffer:len() >= 16 and device_frames[buffer(0, 8):string()]
  if not words then return false end
  packet.cols.protocol = "DLCP"
  packet.cols.info = words
  local tree = root:add(dlcp, buffer())
  tree:append_text(", " .. words)
  tree:add(f.devices, buffer(16))
  return true
end
local function heuristic(buffer, packet, root)
  if devices(buffer, packet, root) then return true end
  if not is_ours(buffer) then return false end
  dlcp.dissector(buffer, packet, root)
  return true
end
dlcp:register_heuristic("udp", heuristic)
dlcp:register_heuristic("infiniband.payload", heuristic)
