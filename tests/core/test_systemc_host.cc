// SPDX-License-Identifier: Apache-2.0
//
// The side of a device that a host sees (core/vinci_systemc.h): registers, device memory through
// the target socket, the interrupt, and values, whoever owns the memory.
#include <cmath>
#include <string>
#include <vector>

#include "core/vinci_systemc.h"
#include "tests/core/systemc_cases.h"

namespace {

using sc_core::sc_time;
namespace reg = vinci::reg;

// Memory with bytes, which notes what comes by; without a backdoor on demand.
struct Ram : sc_core::sc_module {
  tlm_utils::simple_target_socket<Ram> target;
  enum Backdoor { DIRECT, DEBUG, NONE };
  Ram(sc_core::sc_module_name name, uint64_t size, Backdoor backdoor, uint64_t first = 0)
      : sc_module(name), target("target"), bytes(size), carried(size), backdoor(backdoor),
        first(first) {
    target.register_b_transport(this, &Ram::transport);
    target.register_transport_dbg(this, &Ram::debug);
    target.register_get_direct_mem_ptr(this, &Ram::direct);
  }
  bool move(tlm::tlm_generic_payload &payload, std::vector<unsigned char> &where) {
    const uint64_t at = payload.get_address() - first, length = payload.get_data_length();
    if (payload.get_address() < first || length > where.size() || at > where.size() - length)
      return false;
    if (payload.is_write())
      std::memcpy(&where[at], payload.get_data_ptr(), length);
    else
      std::memcpy(payload.get_data_ptr(), &where[at], length);
    return true;
  }
  void transport(tlm::tlm_generic_payload &payload, sc_time &delay) {
    const bool good = move(payload, bytes);
    if (good && payload.is_write())
      move(payload, carried);
    delay += sc_time(100, sc_core::SC_NS);
    payload.set_response_status(good ? tlm::TLM_OK_RESPONSE : tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  unsigned debug(tlm::tlm_generic_payload &payload) {
    debugged += payload.get_data_length();
    return backdoor != NONE && move(payload, bytes) ? payload.get_data_length() : 0;
  }
  bool direct(tlm::tlm_generic_payload &, tlm::tlm_dmi &given) {
    if (backdoor != DIRECT)
      return false;
    given.set_dmi_ptr(bytes.data());
    given.set_start_address(first);
    given.set_end_address(first + bytes.size() - 1);
    given.allow_read_write();
    return true;
  }
  std::vector<unsigned char> bytes, carried; // what it holds; what timed writes have brought
  const Backdoor backdoor;
  const uint64_t first;
  uint64_t debugged = 0;
};

constexpr uint64_t GM = 1ULL << 32;
enum { COUNT = 5000, BYTES = COUNT * sizeof(float) };

// A master at the target socket, with a process for each case.
struct Master : sc_core::sc_module {
  SC_HAS_PROCESS(Master);
  tlm_utils::simple_initiator_socket<Master> bus;
  vinci::device &npu;
  sc_core::sc_signal<bool> line;
  void (*const body)(Master &);
  bool ended = false;
  Master(sc_core::sc_module_name name, vinci::device &npu, void (*body)(Master &))
      : sc_module(name), bus("bus"), npu(npu), line("line"), body(body) {
    SC_THREAD(work);
    set_stack_size(1 << 20);
    bus.bind(npu.host);
    npu.interrupt.bind(line);
  }
  void work() {
    body(*this);
    ended = true;
  }
  static void prepare(tlm::tlm_generic_payload &payload, bool write, uint64_t address, void *data,
                      uint64_t bytes) {
    payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    payload.set_address(address);
    payload.set_data_ptr(static_cast<unsigned char *>(data));
    payload.set_data_length(static_cast<unsigned>(bytes));
    payload.set_streaming_width(static_cast<unsigned>(bytes));
  }
  tlm::tlm_response_status access(bool write, uint64_t address, void *data, uint64_t bytes,
                                  sc_time *took = nullptr) {
    tlm::tlm_generic_payload payload;
    sc_time delay = sc_core::SC_ZERO_TIME;
    prepare(payload, write, address, data, bytes);
    bus->b_transport(payload, delay);
    if (took)
      *took = delay;
    return payload.get_response_status();
  }
  bool set(uint64_t offset, uint64_t value, unsigned bytes = 4) {
    return access(true, offset, &value, bytes) == tlm::TLM_OK_RESPONSE;
  }
  uint64_t get(uint64_t offset, unsigned bytes = 4) {
    uint64_t value = 0;
    expect(access(false, offset, &value, bytes) == tlm::TLM_OK_RESPONSE, "a register can be read");
    return value;
  }
};

vinci::config with_values(vinci::memory_of whose) {
  vinci::config how;
  how.whose = whose;
  how.values = true;
  return how;
}

const std::vector<std::string> args = {"shape=5000", "dtype=fp32"};

// y = x + x1, then y2 = sqrt(y), by registers; values as computed here: IEEE single precision both.
void add_and_root(Master &host) {
  enum : uint64_t { X = 0x100000, X1 = 0x200000, Y = 0x300000, Y2 = 0x400200 };
  vinci::device &npu = host.npu;
  const uint32_t add = npu.load("add", args), root = npu.load("sqrt", args);
  std::vector<float> x(COUNT), x1(COUNT), y(COUNT), y2(COUNT);
  for (int i = 0; i < COUNT; i++) {
    x[i] = 0.37f * static_cast<float>(i);
    x1[i] = 1.0f / static_cast<float>(i + 1);
  }
  expect(host.access(true, GM + X, x.data(), BYTES) == tlm::TLM_OK_RESPONSE, "memory is written");
  expect(host.access(true, GM + X1, x1.data(), BYTES) == tlm::TLM_OK_RESPONSE, "and again");
  host.set(reg::INT_ENABLE, reg::DONE);
  host.set(reg::KERNEL, add);
  host.set(npu.argument(add, "x"), X, 8);
  host.set(npu.argument(add, "x1"), X1, 8);
  host.set(npu.argument(add, "y"), Y, 8);
  expect(host.set(reg::DOORBELL, 1), "the first launch");
  host.set(reg::KERNEL, root);
  expect(host.get(reg::ARGUMENTS) == 2, "tensors of the second kernel");
  host.set(npu.argument(root, "x"), Y & 0xffffffff); // in halves
  host.set(npu.argument(root, "x") + 4, Y >> 32);
  host.set(npu.argument(root, "y"), Y2, 8);
  expect(host.get(npu.argument(root, "x"), 8) == Y, "an argument reads back");
  try {
    (void)npu.argument(add, "z");
    expect(false, "a tensor that is not there");
  } catch (const vinci::error &error) {
    expect(std::string(error.what()) ==
               "kernel " + std::to_string(add) + " has no tensor z, but x, x1, y",
           "the tensors are told");
  }
  expect(host.set(reg::DOORBELL, 1), "the second launch");
  expect(host.get(reg::STATUS) == reg::BUSY, "busy");
  wait(host.line.posedge_event());
  expect(host.get(reg::ENDED) == 1 && host.get(reg::INT_STATUS) == reg::DONE,
         "the first has ended");
  const uint64_t first = host.get(reg::CYCLES, 8);
  host.set(reg::INT_STATUS, reg::DONE);
  wait(host.line.negedge_event());
  wait(host.line.posedge_event());
  expect(host.get(reg::ENDED) == 2 && host.get(reg::STATUS) == 0, "both have ended");
  expect(first > 0 && host.get(reg::CYCLES, 8) == npu.cycles(), "cycles of both");
  expect(host.get(reg::PICOSECONDS, 8) == npu.duration().value(), "duration");
  npu.verify();
  host.access(false, GM + Y, y.data(), BYTES);
  host.access(false, GM + Y2, y2.data(), BYTES);
  for (int i = 0; i < COUNT; i++) {
    expect(y[i] == x[i] + x1[i], "sums are right");
    expect(y2[i] == std::sqrt(y[i]), "roots are right");
  }
}

void on_own_memory() {
  vinci::device npu("npu", "Ascend910B4", with_values(vinci::memory_of::chip));
  Master host("host", npu, add_and_root);
  sc_core::sc_start();
  expect(host.ended, "the host comes to its end");
}

void on_memory(Ram::Backdoor backdoor, uint64_t base) {
  vinci::config how = with_values(vinci::memory_of::platform);
  how.base = base;
  vinci::device npu("npu", "Ascend910B4", how);
  Ram ram("ram", 8 << 20, backdoor, base);
  npu.memory.bind(ram.target);
  Master host("host", npu, add_and_root);
  sc_core::sc_start();
  expect(host.ended, "the host comes to its end");
  expect((ram.debugged > 0) == (backdoor == Ram::DEBUG), "the backdoor that is there");
  expect(std::memcmp(&ram.bytes[0x300000], &ram.carried[0x300000], BYTES) == 0 &&
             std::memcmp(&ram.bytes[0x400200], &ram.carried[0x400200], BYTES) == 0,
         "writes carry what they write");
}
void on_direct_memory() { on_memory(Ram::DIRECT, 0); }
void on_debugged_memory() { on_memory(Ram::DEBUG, 0x500000000); }

void without_backdoor() {
  vinci::device npu("npu", "Ascend910B4", with_values(vinci::memory_of::platform));
  Ram ram("ram", 8 << 20, Ram::NONE);
  npu.memory.bind(ram.target);
  Master host("host", npu, [](Master &host) {
    std::string text;
    try {
      host.npu.start("add", args);
    } catch (const vinci::error &error) {
      text = error.what();
    }
    expect(text.find("npu: memory answers neither") == 0, "values need a backdoor");
    expect(text.find(" bytes at address 0x") != text.npos, "the place is told");
    host.npu.load("add", args);
    host.set(reg::INT_ENABLE, reg::ERROR);
    host.set(reg::DOORBELL, 1);
    wait(host.line.posedge_event());
    expect(host.get(reg::STATUS) == reg::FAILED && host.get(reg::CODE) == VINCI_E_IO,
           "a launch that cannot begin fails");
    expect(host.get(reg::ENDED) == 1, "and has ended");
    host.set(reg::KERNEL, 0);
    host.set(host.npu.argument(0, "x"), 32ULL << 30, 8);
    host.set(reg::DOORBELL, 1);
    wait(host.npu.finished);
    expect(host.get(reg::CODE) == VINCI_E_USAGE, "an address beyond device memory");
    try {
      host.npu.verify();
    } catch (const vinci::error &error) {
      text = error.what();
    }
    expect(text == "npu: a tensor of 20000 bytes at address 0x800000000 ends beyond the "
                   "34359738368 bytes of device memory",
           "is told as that");
  });
  sc_core::sc_start();
  expect(host.ended, "the host comes to its end");
}

// Sockets of a platform lead to memory once the simulation begins, so a run waits for that.
void before_the_start() {
  vinci::device first("first", "Ascend910B4", with_values(vinci::memory_of::platform));
  vinci::device second("second", "Ascend910B4", with_values(vinci::memory_of::platform));
  Ram good("good", 8 << 20, Ram::DEBUG), bad("bad", 8 << 20, Ram::NONE);
  first.memory.bind(good.target);
  second.memory.bind(bad.target);
  const float three = 3;
  std::memcpy(&good.bytes[0x1000], &three, sizeof three);
  first.start("adds", {"shape=64", "dtype=fp32", "alpha=2"});
  second.start("adds", {"shape=64", "dtype=fp32", "alpha=2"});
  expect(first.busy() && good.debugged == 0, "nothing has happened");
  sc_core::sc_start();
  first.verify();
  float found;
  std::memcpy(&found, &good.bytes[0x1000 + 512], sizeof found);
  expect(found == 5 && !first.busy(), "the run has computed");
  std::string text;
  try {
    second.verify();
  } catch (const vinci::error &error) {
    text = error.what();
  }
  expect(text.find("second: memory answers neither") == 0, "what is wrong becomes its end");
}

// What a host may do wrong.
void refusals(Master &host) {
  uint64_t word = 0;
  expect(host.get(reg::ID) == reg::MAGIC, "identity");
  expect(host.get(reg::MEMORY, 8) == 32ULL << 30, "bytes of device memory");
  expect(!host.set(reg::DOORBELL, 1), "no kernel is loaded");
  const uint32_t add = host.npu.load("add", args);
  expect(host.get(reg::KERNELS) == 1, "one is");
  expect(!host.set(reg::KERNEL, 1), "no such kernel");
  expect(!host.set(reg::ID, 1), "not to be written");
  expect(host.access(false, 2, &word, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "misaligned");
  expect(host.access(false, 0, &word, 2) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "half a register");
  expect(host.access(false, 0x1000, &word, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "beyond");
  expect(host.access(false, GM + (32ULL << 30), &word, 4) == tlm::TLM_ADDRESS_ERROR_RESPONSE,
         "behind device memory");
  host.set(host.npu.argument(add, "x"), 0x100, 8);
  host.set(reg::DOORBELL, 1);
  wait(host.npu.finished);
  expect(host.get(reg::INT_STATUS) == reg::ERROR && !host.line.read(), "an error, not enabled");
  std::string text;
  try {
    host.npu.verify();
  } catch (const vinci::error &error) {
    text = error.what();
  }
  expect(text == "address 0x100 of tensor \"x\" is not a multiple of 512", "why");
  host.set(reg::KERNEL, add);
  for (unsigned i = 0; i < reg::QUEUE; i++)
    expect(host.set(reg::DOORBELL, 1), "launches queue");
  expect(host.get(reg::STATUS) & reg::FULL, "until the queue is full");
  expect(!host.set(reg::DOORBELL, 1), "then one more is refused");
  while (host.get(reg::ENDED) < 1 + reg::QUEUE)
    wait(host.npu.finished);
  expect(host.get(reg::STATUS) == 0, "all have ended");
}

void mistakes() {
  vinci::device npu("npu", "Ascend910B4", vinci::memory_of::chip);
  Master host("host", npu, refusals);
  sc_core::sc_start();
  expect(host.ended, "the host comes to its end");
}

// DMI and debug transport through the target socket.
void pointers(Master &host) {
  tlm::tlm_dmi given;
  tlm::tlm_generic_payload asked;
  float x = 3, found = 0;
  Master::prepare(asked, false, GM + 0x300000, nullptr, 4);
  expect(host.bus->get_direct_mem_ptr(asked, given), "device memory gives pointers");
  expect(given.get_start_address() <= GM + 0x300000 && given.get_end_address() > GM + 0x300000 &&
             given.is_write_allowed(),
         "of the address asked for");
  std::memcpy(given.get_dmi_ptr() + (GM + 0x300000 - given.get_start_address()), &x, sizeof x);
  tlm::tlm_generic_payload payload;
  Master::prepare(payload, false, GM + 0x300000, &found, sizeof found);
  expect(host.bus->transport_dbg(payload) == 4 && found == 3, "both see the same memory");
  Master::prepare(asked, false, 0, nullptr, 4);
  expect(!host.bus->get_direct_mem_ptr(asked, given), "registers give none");
  uint32_t id = 0;
  Master::prepare(payload, false, reg::ID, &id, sizeof id);
  expect(host.bus->transport_dbg(payload) == 4 && id == reg::MAGIC, "registers can be looked at");
  sc_time took;
  host.access(false, GM + 0x300000, &found, sizeof found, &took);
  expect(took == sc_time(host.npu.memory.size() ? 100 : 0, sc_core::SC_NS),
         "an access takes the time of who owns the memory");
}

void direct_access() {
  vinci::config how;
  how.base = 0x80000000;
  vinci::device behind("behind", "Ascend910B4", how);
  Ram ram("ram", 8 << 20, Ram::DIRECT, 0x7ff00000);
  behind.memory.bind(ram.target);
  Master first("first", behind, pointers);
  vinci::device alone("alone", "Ascend910B4", vinci::memory_of::chip);
  Master second("second", alone, pointers);
  sc_core::sc_start();
  expect(first.ended && second.ended, "the hosts come to their end");
  float x = 0;
  std::memcpy(&x, &ram.bytes[0x80000000 - 0x7ff00000 + 0x300000], sizeof x);
  expect(x == 3, "the platform's memory holds what the host wrote");
}

// A doorbell rung ahead of time, as temporally decoupled initiators do.
void ahead() {
  vinci::device npu("npu", "Ascend910B4", vinci::memory_of::chip);
  Master host("host", npu, [](Master &host) {
    host.npu.load("copy", {"shape=64"});
    tlm::tlm_generic_payload payload;
    uint32_t one = 1;
    sc_time delay(3, sc_core::SC_US);
    Master::prepare(payload, true, reg::DOORBELL, &one, sizeof one);
    host.bus->b_transport(payload, delay);
    wait(host.npu.finished);
    expect(sc_core::sc_time_stamp() == sc_time(3, sc_core::SC_US) + host.npu.duration(),
           "it starts when the bell rings");
  });
  sc_core::sc_start();
  expect(host.ended, "the host comes to its end");
}

const Case cases[] = {
    {"a host launches kernels on a chip with its own memory", on_own_memory},
    {"the same on memory of the platform, by direct pointers", on_direct_memory},
    {"the same by debug transport, elsewhere in the address map", on_debugged_memory},
    {"values need one of both", without_backdoor},
    {"a run with values waits for the simulation to begin", before_the_start},
    {"mistakes of a host are answered", mistakes},
    {"device memory is reached through the target socket", direct_access},
    {"a doorbell may ring ahead of time", ahead},
};

} // namespace

extern "C" __attribute__((visibility("default"))) int sc_main(int, char **) { return run_chosen(); }

int main(int argc, char **argv) { return run_cases(cases, argc, argv); }
